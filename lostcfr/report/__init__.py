"""What a run has come to, as one page of HTML with pictures."""

"""``lostcfr doctor``: what this installation consists of and whether it works."""

import click


@click.command()
def command() -> None:
    """Show versions, cores, the kernel cache and what is missing."""
    from lostcfr.doctor import findings

    rows = findings()
    width = max(len(name) for name, _, _ in rows)
    for name, text, good in rows:
        click.echo(f"{name:{width}}  {text}" + ("" if good else "   <- needs attention"))
    if not all(good for _, _, good in rows):
        raise SystemExit(1)

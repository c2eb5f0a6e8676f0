"""How the page looks: one column on a phone, pictures side by side on a desk, light or dark as the reader has it."""

STYLESHEET = """\
:root { color-scheme: light dark; --text: #1c1c1e; --quiet: #5e6066; --page: #f6f6f4; --card: #fff; --line: #e1e1dd; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8e8e6; --quiet: #a5a7ac; --page: #101011; --card: #1a1a1a; --line: #333336; }
  /* White becomes the card's grey and black becomes light, while hues stay what they are. */
  img { filter: invert(0.898) hue-rotate(180deg); }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; }
header, main, footer { max-width: 76rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 2rem; }
h1 { margin: 0; font-size: 2rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 3rem 0 0.25rem; font-size: 1.3rem; }
p { margin: 0.25rem 0 1rem; max-width: 48rem; color: var(--quiet); }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin-top: 1.25rem; }
a { color: inherit; text-underline-offset: 0.2em; text-decoration-color: var(--quiet); }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 0.75rem; margin: 1.5rem 0 0; }
dl div, figure, .card, details, pre.commands {
  background: var(--card); border: 1px solid var(--line); border-radius: 0.6rem;
}
dl div { padding: 0.6rem 0.9rem; }
dt { color: var(--quiet); font-size: 0.85rem; }
dd { margin: 0; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); gap: 0.75rem; }
figure { margin: 0; padding: 0.5rem; }
img { display: block; width: 100%; height: auto; }
.card { margin: 0 0 0.75rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
h3 { margin: 0; padding: 0.6rem 0.9rem 0.3rem; font-size: 1rem; font-weight: 600; }
th, td { padding: 0.35rem 0.9rem; text-align: right; white-space: nowrap; border-top: 1px solid var(--line); }
thead th { border-top: 0; color: var(--quiet); font-size: 0.85rem; font-weight: 500; }
th:first-child { text-align: left; }
tbody th { font-weight: 500; }
.panels + .card, details, pre.commands { margin-top: 0.75rem; }
pre { margin: 0; padding: 0.75rem 0.9rem; font: 0.9rem/1.6 ui-monospace, monospace; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
summary { padding: 0.6rem 0.9rem; cursor: pointer; font-weight: 600; }
footer { padding-top: 2rem; padding-bottom: 3rem; color: var(--quiet); font-size: 0.9rem; }
"""

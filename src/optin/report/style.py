"""The page's looks: one column of words, pictures beside their numbers, light and dark, wide and narrow, on paper."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --text: #1c2127; --soft: #5c6670; --faint: #dde1e6; --strong: #24588c;
  --tint: #f2f6fa; --mark: #b4440b; --shade: #9aa4ae; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181d; --text: #e7eaee; --soft: #a2acb7; --faint: #333a43;
  --strong: #8fc0f0; --tint: #1d232b; --mark: #ffad66; --shade: #5c6670; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--text);
  font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif; }
main { max-width: 70rem; margin: 0 auto; padding: 3.5rem 1.5rem 5rem; }
header { max-width: 46rem; }
.kicker { color: var(--soft); font-size: .9375rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h1 { font-size: clamp(1.75rem, 1.2rem + 2.4vw, 2.5rem); line-height: 1.15; letter-spacing: -.015em; margin: 0 0 1rem;
  overflow-wrap: anywhere; }
.lead { font-size: 1.25rem; line-height: 1.5; margin: 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: 1rem; margin: 2.5rem 0 0; padding: 0; }
.tiles > div { background: var(--tint); border-radius: .5rem; padding: 1.1rem 1.25rem; }
.tiles dt { font-size: 1.75rem; font-weight: 650; line-height: 1.2; letter-spacing: -.01em; font-variant-numeric: tabular-nums; }
.tiles dd { margin: .35rem 0 0; color: var(--soft); font-size: .9375rem; line-height: 1.45; }
section { margin-top: 4rem; padding-top: 2rem; border-top: 1px solid var(--faint); }
h2 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em; margin: 0 0 .6rem; }
section > p { max-width: 46rem; margin: 0 0 1rem; }
.pair { display: grid; grid-template-columns: minmax(0, 1.18fr) minmax(0, 1fr); gap: 2.5rem; align-items: start;
  margin-top: 1.5rem; }
figure { margin: 0; }
img { display: block; width: 100%; height: auto; }
.scroll { overflow-x: auto; background:
  linear-gradient(to right, var(--paper) 40%, transparent) left / 2.5rem 100% no-repeat local,
  linear-gradient(to left, var(--paper) 40%, transparent) right / 2.5rem 100% no-repeat local,
  linear-gradient(to right, var(--shade), transparent) left / 1rem 100% no-repeat scroll,
  linear-gradient(to left, var(--shade), transparent) right / 1rem 100% no-repeat scroll; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; line-height: 1.4; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); font-size: .875rem; padding: 0 0 .5rem; }
th, td { padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--faint); text-align: right; vertical-align: top; }
th:first-child { text-align: left; }
td { white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--soft); font-weight: 500; vertical-align: bottom; }
tbody th { font-weight: 400; }
tr.own th, tr.own td { font-weight: 650; }
.grouped { max-width: 46rem; }
.grouped .group th { padding-top: 1.4rem; font-weight: 650; overflow-wrap: anywhere; }
.grouped .group th span { font-weight: 400; color: var(--soft); }
.grouped tbody tr:not(.group) th { padding-left: 1rem; width: 45%; overflow-wrap: anywhere; }
.grouped td.remark { text-align: left; white-space: normal; padding-left: 1rem; color: var(--mark); }
.note { color: var(--soft); font-size: .9375rem; line-height: 1.5; margin: .9rem 0 0; }
.warning { border-left: 3px solid var(--mark); padding-left: 1rem; }
.facts td { text-align: left; white-space: normal; overflow-wrap: anywhere; }
.facts th { width: 42%; }
.sheet { display: grid; grid-template-columns: minmax(9rem, 13rem) minmax(0, 46rem); gap: 0; margin: 1.25rem 0 0; }
.sheet dt { font-weight: 650; padding: .8rem 2rem .8rem 0; border-top: 1px solid var(--faint); }
.sheet dd { margin: 0; padding: .8rem 0; border-top: 1px solid var(--faint); }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .9em;
  overflow-wrap: anywhere; }
footer { margin-top: 4rem; color: var(--soft); font-size: .875rem; }
:focus-visible { outline: 2px solid var(--strong); outline-offset: 2px; }
@media (max-width: 52rem) {
  main { padding: 2rem 1rem 3rem; }
  .pair, .sheet { grid-template-columns: minmax(0, 1fr); gap: 1.5rem; }
  .sheet { gap: 0; }
  .sheet dd { border-top: 0; padding-top: 0; }
  .sheet dt { padding-bottom: .2rem; }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: .75rem; }
  .tiles > div { padding: .9rem 1rem; }
  .tiles dt { font-size: 1.375rem; }
  section { margin-top: 2.75rem; padding-top: 1.5rem; }
  .lead { font-size: 1.125rem; }
}
@media print { section { break-inside: avoid; } main { padding: 0; } }
"""

"""Charts as accessible SVG, pure functions from values: for the view and for reports in one file.

A chart is drawn with classes and plain attributes, never with inline style, so that a strict
Content-Security-Policy shows it; `charts_css` colours it for light and dark. Nothing is said by colour alone:
every chart has words or shapes for it, a title and a description for those who do not see it, and the sheet
of its values.
"""

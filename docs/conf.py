"""Configuration of the documentation site. tools/build_site.py copies the pages and calls Sphinx."""

import kith

project = "kith"
author = "the kith authors"
version = release = kith.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
root_doc = "index"
suppress_warnings = ["ref.python"]  # of an attribute that several classes have

myst_heading_anchors = 6  # the anchors that GitHub gives headings

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say more
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = f"kith {version}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#30475e", "color-brand-content": "#c8553d"},
    "dark_css_variables": {"color-brand-primary": "#9fb1c1", "color-brand-content": "#e08a76"},
}

"""How Sphinx builds the site; scripts/site calls it in a copy of this folder."""

import re

from docutils import nodes

import xmceval

project = html_title = "xmceval"
version = release = xmceval.__version__
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx_click"]
templates_path = ["."]
exclude_patterns = ["README.md", "name.rst"]  # the text of index.md, and the template of a page in python
smartquotes = False  # options begin with two hyphens
myst_heading_anchors = 3
autodoc_typehints = "none"  # docstrings say the types
autodoc_mock_imports = ["torch", "torchmetrics", "ir_measures"]
numpydoc_show_class_members = False  # they follow in full

html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_toc_level": 2, "footer_start": [], "footer_end": []}
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system
html_sidebars = {"index": [], "commands": []}
html_static_path = html_css_files = ["site.css"]
html_copy_source = html_use_index = html_domain_indices = False


def show_code(_app, _context, lines: list[str]) -> None:
    """Show the examples in the help of a command, and patterns with a star, as code."""
    text = re.sub(r"('\S*\*\S*')", r"``\1``", "\n".join(lines))
    lines[:] = re.sub(r"^\| (.*:)$", r"\1:\n", text, flags=re.MULTILINE).replace("\n| ", "\n ").split("\n")


def drop_links(_app, document: nodes.document) -> None:
    """Show nDCG@10 and tcp://host as text: docutils takes them for links."""
    for link in document.findall(nodes.reference):
        if link.get("refuri", "").startswith(("mailto:", "tcp:")):
            link.replace_self(link.children)


def setup(app) -> None:
    """Connect the functions above."""
    app.connect("sphinx-click-process-description", show_code)
    app.connect("doctree-read", drop_links)

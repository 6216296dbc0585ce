"""Pages as a browser would take them apart: elements in their order, with their text; what is not well-formed fails."""

from html.parser import HTMLParser

VOID = {"meta", "wbr"}


class Element:
    """An element: its tag, its attributes, its text with that of all inside, and what is inside."""

    def __init__(self, tag, attributes):
        self.tag, self.attributes, self.inside, self.pieces = tag, attributes, [], []

    @property
    def text(self):
        return "".join(each if isinstance(each, str) else each.text for each in self.pieces)

    def all(self, tag=None, **attributes):
        """Return the elements inside, at any depth, with a tag and attributes."""
        found = []
        for each in self.inside:
            is_alike = all(each.attributes.get(key.rstrip("_")) == value for key, value in attributes.items())
            if tag in {None, each.tag} and is_alike:
                found.append(each)
            found += each.all(tag, **attributes)
        return found


class _Builder(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open = [Element("", {})]

    def handle_starttag(self, tag, attributes):
        assert len(dict(attributes)) == len(attributes), f"<{tag}> has an attribute twice"
        element = Element(tag, dict(attributes))
        self.open[-1].inside.append(element)
        self.open[-1].pieces.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        self.open[-1].pieces.append(data)


def parse(html):
    """Return the root of a page or a fragment."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    assert len(builder.open) == 1, f"<{builder.open[-1].tag}> is not closed"
    return builder.open[0]


def read_table(table):
    """Return the cells of a table as texts, row by row."""
    return [[cell.text for cell in row.inside] for row in table.all("tr")]

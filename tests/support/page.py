"""The pages that the package writes, as tests read them."""

import html.parser
import json


class Page(html.parser.HTMLParser):
    """The tags of a page, and its data."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.data, self._reads = [], "", False
        self.feed(text)
        self.data = json.loads(self.data)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._reads = dict(attrs).get("id") == "data"

    def handle_endtag(self, tag):
        self._reads = False

    def handle_data(self, data):
        self.data += data if self._reads else ""

"""Chromium without a window, driven by WebDriver (https://www.w3.org/TR/webdriver2/)."""

import base64
import json
import re
import shutil
import subprocess
import urllib.request

DRIVER = shutil.which("chromedriver")
CHROMIUM = shutil.which("chromium")
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--hide-scrollbars", "--force-prefers-reduced-motion"]  # fmt: skip
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Left": "\ue012", "Up": "\ue013",
        "Right": "\ue014", "Down": "\ue015", "PageDown": "\ue00f"}  # fmt: skip


class Browser:
    """A window of one page; `width` x `height` pixels."""

    def __init__(self, folder, width, height):
        self._driver = subprocess.Popen(
            [DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        lines = iter(self._driver.stdout.readline, "")
        port = next(m[1] for line in lines if (m := re.search(r"started .*port (\d+)", line)))
        self._url = f"http://127.0.0.1:{port}/session"
        options = {"binary": CHROMIUM, "args": [*ARGUMENTS, f"--window-size={width},{height}",
                                                f"--user-data-dir={folder}"]}  # fmt: skip
        wanted = {"browserName": "chrome", "goog:chromeOptions": options}
        session = self._post("", {"capabilities": {"alwaysMatch": wanted}})
        self._url += "/" + session["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._ask(urllib.request.Request(self._url, method="DELETE"))
        self._driver.terminate()
        self._driver.wait(30)
        self._driver.stdout.close()

    def _post(self, path, content):
        data = json.dumps(content).encode()
        return self._ask(urllib.request.Request(self._url + path, data, method="POST"))

    @staticmethod
    def _ask(request):
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, path):
        """Shows the page in the file `path`."""
        self._post("/url", {"url": f"file://{path}"})

    def run(self, script):
        """The value of a JavaScript expression."""
        return self._post("/execute/sync", {"script": f"return {script}", "args": []})

    def press(self, *keys):
        """Presses keys, by name or as a text, where the focus is."""
        texts = [KEYS.get(key, key) for key in keys]
        actions = [{"type": kind, "value": letter} for text in texts for letter in text
                   for kind in ("keyDown", "keyUp")]  # fmt: skip
        self._post("/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def screenshot(self, path):
        """Writes what is in sight as a PNG."""
        with urllib.request.urlopen(self._url + "/screenshot", timeout=60) as answer:
            path.write_bytes(base64.b64decode(json.load(answer)["value"]))

"""An npm registry on this machine, with the packages of a release and nothing else."""

import base64
import hashlib
import http.server
import json
import tarfile
import threading


class Registry:
    """Serves packages on a free port of 127.0.0.1 until the block ends."""

    def __init__(self, packages):
        self.files = {path.name: path.read_bytes() for path in packages}
        self.manifests = {}
        for path in packages:
            with tarfile.open(path) as archive:
                manifest = json.load(archive.extractfile("package/package.json"))
            self.manifests[manifest["name"]] = (manifest, path.name)

    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def document(self, name):
        """What npm reads about a package before it downloads it."""
        manifest, file = self.manifests[name]
        integrity = base64.b64encode(hashlib.sha512(self.files[file]).digest()).decode()
        dist = {"tarball": f"{self.address}/-/{file}", "integrity": f"sha512-{integrity}"}
        number = manifest["version"]
        return {"name": name, "dist-tags": {"latest": number}, "versions": {number: manifest | {"dist": dist}}}

    def handler(self):
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                name = self.path.strip("/")
                if name in registry.manifests:
                    self.reply(200, json.dumps(registry.document(name)).encode(), "application/json")
                elif name.removeprefix("-/") in registry.files:
                    self.reply(200, registry.files[name.removeprefix("-/")], "application/octet-stream")
                else:
                    self.reply(404, b'{"error": "not found"}', "application/json")

            def reply(self, status, body, kind):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        return Handler

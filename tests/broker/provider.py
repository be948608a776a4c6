"""An identity provider on a port of its own, which gives tokens to a client by HTTPS."""
import base64
import http.server
import json
import ssl
import threading

CLIENT, SECRET = "krc", "s3cret-client"


class Provider:
    def __init__(self, certificate, token):
        """`token` is called for each."""
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self.reply(*outer.answer(self.headers["Authorization"], body))

            def reply(self, status, answer):
                content = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.token = token
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server.server_port}/token"

    def answer(self, authorization, body):
        known = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if authorization != f"Basic {known}":
            return 401, {"error": "invalid_client", "error_description": "no such client"}
        if body != "grant_type=client_credentials&scope=kafka+read":
            return 400, {"error": "invalid_request", "error_description": body}
        return 200, {"access_token": self.token(), "token_type": "Bearer", "expires_in": 3600}

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

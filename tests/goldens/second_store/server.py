"""moto's DynamoDB on a free port of this machine. Prints the port; ends when its standard input does."""

import logging
import os
import sys
import threading

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server


def end_with_the_tests():
    sys.stdin.buffer.read()
    os._exit(0)


logging.getLogger("werkzeug").setLevel(logging.ERROR)
# With HTTP/1.1 a connection serves more than one request.
WSGIRequestHandler.protocol_version = "HTTP/1.1"
server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
print(f"port {server.port}", flush=True)
threading.Thread(target=end_with_the_tests, daemon=True).start()
server.serve_forever()

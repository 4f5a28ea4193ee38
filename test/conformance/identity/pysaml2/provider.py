"""An identity provider of pysaml2 on this machine, told by its one client which people it knows and how it answers.

provider.py PORT FOLDER XMLSEC1: its key and certificate are made in the folder.
"""

import base64
import datetime
import html
import json
import os
import sys
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT, entity
from saml2.config import IdPConfig
from saml2.metadata import entity_descriptor
from saml2.saml import NAME_FORMAT_URI, NAMEID_FORMAT_PERSISTENT, NameID
from saml2.server import Server
from saml2.sigver import CryptoBackendXmlSec1, pre_encryption_part
from saml2.xmldsig import DIGEST_SHA256, SIG_RSA_SHA256

port, folder, xmlsec = int(sys.argv[1]), sys.argv[2], sys.argv[3]
base = f"http://127.0.0.1:{port}"
entity_id = f"{base}/metadata"
aes = "http://www.w3.org/2009/xmlenc11#aes256-gcm"
triple_des = "http://www.w3.org/2001/04/xmlenc#tripledes-cbc"
own_encryption = CryptoBackendXmlSec1.encrypt_assertion
state = {"server": None, "shape": {}}


def make_key():
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "pysaml2")])
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(days=1))
    certificate = builder.not_valid_after(now + datetime.timedelta(days=30)).sign(key, hashes.SHA256())
    plain = serialization.NoEncryption()
    with open(f"{folder}/key.pem", "wb") as file:
        file.write(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    with open(f"{folder}/certificate.pem", "wb") as file:
        file.write(certificate.public_bytes(serialization.Encoding.PEM))


def configure(*descriptions):
    settings = {
        "entityid": entity_id,
        "xmlsec_binary": xmlsec,
        "key_file": f"{folder}/key.pem",
        "cert_file": f"{folder}/certificate.pem",
        "service": {
            "idp": {
                "endpoints": {
                    "single_sign_on_service": [(f"{base}/sso", BINDING_HTTP_REDIRECT)],
                    "single_logout_service": [(f"{base}/slo", BINDING_HTTP_REDIRECT)],
                },
                "name_id_format": [NAMEID_FORMAT_PERSISTENT],
                "want_authn_requests_signed": True,
                "policy": {"default": {"lifetime": {"minutes": 5}, "name_form": NAME_FORMAT_URI}},
            }
        },
    }
    if descriptions:
        settings["metadata"] = {"inline": list(descriptions)}
    return IdPConfig().load(settings)


def encrypt_by(method):
    """Its own default is Triple DES, which is no longer taken."""
    key_type = "des-192" if method == triple_des else "aes-256"
    entity.pre_encryption_part = partial(pre_encryption_part, msg_enc=method)

    def encrypt(self, statement, enc_key, template, key_type=key_type, node_xpath=None, node_id=None, chosen=key_type):
        return own_encryption(self, statement, enc_key, template, chosen, node_xpath, node_id)

    CryptoBackendXmlSec1.encrypt_assertion = encrypt


def answer(query):
    """The page that brings an answer to the service, to a request or to none."""
    server, shape = state["server"], state["shape"]
    encrypt_by(shape.get("method", aes))
    person = shape["person"]
    if "SAMLRequest" in query:
        given = {name: query[name][0] for name in ("SAMLRequest", "SigAlg", "Signature")}
        relay = query.get("RelayState", [None])[0]
        request = server.parse_authn_request(
            given["SAMLRequest"], BINDING_HTTP_REDIRECT, relay, given["SigAlg"], given["Signature"]
        )
        facts = server.response_args(request.message)
        facts.pop("binding", None)
    else:
        relay, service = "/keys", next(iter(server.metadata.service_providers()))
        place = server.metadata.assertion_consumer_service(service, BINDING_HTTP_POST)[0]["location"]
        facts = {"in_response_to": None, "destination": place, "sp_entity_id": service}
    facts.pop("name_id_policy", None)
    response = server.create_authn_response(
        {"mail": [f"{person}@acme.example"], "displayName": [person], "groups": shape.get("groups", [])},
        name_id=NameID(format=NAMEID_FORMAT_PERSISTENT, text=person),
        authn={"class_ref": "urn:oasis:names:tc:SAML:2.0:ac:classes:Password", "authn_auth": entity_id},
        sign_response=shape.get("signsResponse", False),
        sign_assertion=shape.get("signsAssertion", False),
        encrypt_assertion=shape.get("encrypts", False),
        encrypted_advice_attributes=False,
        sign_alg=SIG_RSA_SHA256,
        digest_alg=DIGEST_SHA256,
        **facts,
    )
    fields = {"SAMLResponse": base64.b64encode(str(response).encode()).decode()}
    if relay is not None:
        fields["RelayState"] = relay
    inputs = "".join(f'<input type="hidden" name="{name}" value="{html.escape(fields[name])}"/>' for name in fields)
    script = "<script>document.forms[0].submit()</script>"
    return f'<form method="post" action="{facts["destination"]}">{inputs}</form>{script}'


def log_out():
    """The address to which the browser is sent with this provider's word that somebody has signed out."""
    server, person = state["server"], state["shape"]["person"]
    service = next(iter(server.metadata.service_providers()))
    place = server.metadata.single_logout_service(service, BINDING_HTTP_REDIRECT, "spsso")[0]["location"]
    name_id = NameID(format=NAMEID_FORMAT_PERSISTENT, text=person)
    _, request = server.create_logout_request(place, service, name_id=name_id, sign=False)
    info = server.apply_binding(
        BINDING_HTTP_REDIRECT, str(request), place, relay_state="x", sign=True, sigalg=SIG_RSA_SHA256
    )
    return dict(info["headers"])["Location"]


def confirm_log_out(query):
    """The address by which the browser brings the answer to the service's request that somebody is signed out here."""
    server = state["server"]
    given = {name: query[name][0] for name in ("SAMLRequest", "SigAlg", "Signature")}
    request = server.parse_logout_request(
        given["SAMLRequest"], BINDING_HTTP_REDIRECT, sigalg=given["SigAlg"], signature=given["Signature"]
    )
    state["signed_out"] = request.message.name_id.text
    response = server.create_logout_response(request.message, [BINDING_HTTP_REDIRECT], sign=False)
    info = server.apply_binding(
        BINDING_HTTP_REDIRECT,
        str(response),
        response.destination,
        relay_state="",
        response=True,
        sign=True,
        sigalg=SIG_RSA_SHA256,
    )
    return dict(info["headers"])["Location"]


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def send(self, status, text, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        parts = urlsplit(self.path)
        if parts.path == "/metadata":
            return self.send(200, str(entity_descriptor(configure())), [("content-type", "application/samlmetadata+xml")])
        if parts.path == "/logout":
            return self.send(302, "", [("location", log_out())])
        if parts.path == "/slo":
            query = parse_qs(parts.query)
            if "SAMLRequest" in query:
                return self.send(302, "", [("location", confirm_log_out(query))])
            given = (query[name][0] for name in ("SAMLResponse",))
            response = state["server"].parse_logout_request_response(*given, BINDING_HTTP_REDIRECT)
            return self.send(200, f"signed out: {response.status_ok()}")
        if parts.path == "/signed-out":
            return self.send(200, state.get("signed_out", ""))
        return self.send(200, answer(parse_qs(parts.query)), [("content-type", "text/html")])

    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "description" in sent:
            state["server"] = Server(config=configure(sent["description"]))
        else:
            state["shape"] = sent
        self.send(200, "")


os.makedirs(folder, exist_ok=True)
make_key()
listening = ThreadingHTTPServer(("127.0.0.1", port), Handler)
print("listening", flush=True)
listening.serve_forever()

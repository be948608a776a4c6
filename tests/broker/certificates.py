"""Certificates for a broker and its clients, made by the openssl command in a folder."""
import os
import subprocess

PASSWORD = "s3cret-store"
KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
HERE = "DNS:localhost,IP:127.0.0.1"


class Certificates:
    """NAME.pem holds a private key, its certificate and the authority's; NAME.crt that of an
    authority alone."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder)
        for name in ("authority", "stranger"):
            self.openssl("req", "-x509", *KEY, "-keyout", f"{name}.key", "-out", f"{name}.crt",
                         "-days", 30, "-subj", f"/CN={name}")
        self.sign("server", HERE)
        self.sign("expired", HERE, "-days", -1)
        self.sign("elsewhere", "DNS:elsewhere.example")
        self.sign("client", "DNS:client")
        self.store()

    def path(self, name):
        return f"{self.folder}/{name}"

    def openssl(self, *arguments):
        subprocess.run(["openssl", *map(str, arguments)], cwd=self.folder, check=True,
                       stdin=subprocess.DEVNULL, capture_output=True)

    def text(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def write(self, name, text):
        """Only its owner can read it, and whoever does sees all of it."""
        part = self.path("part")
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
        os.rename(part, self.path(name))
        return self.path(name)

    def sign(self, name, names, *days):
        self.write("extensions", f"subjectAltName={names}\n")
        self.openssl("req", *KEY, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj",
                     f"/CN={name}")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "authority.crt", "-CAkey",
                     "authority.key", "-CAcreateserial", "-out", f"{name}.crt", "-extfile",
                     "extensions", *(days or ("-days", 30)))
        self.write(f"{name}.pem", self.text(f"{name}.key") + self.text(f"{name}.crt") +
                   self.text("authority.crt"))

    def store(self):
        """The same in other forms: PKCS12, a key that is encrypted, a folder."""
        password = f"pass:{PASSWORD}"
        self.openssl("pkcs12", "-export", "-nokeys", "-in", "authority.crt", "-out",
                     "authority.p12", "-passout", password)
        self.openssl("pkcs12", "-export", "-in", "client.pem", "-out", "client.p12", "-passout",
                     password)
        self.openssl("pkcs8", "-topk8", "-in", "client.key", "-out", "client.enc", "-v2", "aes256",
                     "-passout", password)
        self.write("encrypted.pem", self.text("client.enc") + self.text("client.crt"))
        os.makedirs(self.path("folder"))
        for name in ("stranger", "authority"):
            self.write(f"folder/{name}.crt", self.text(f"{name}.crt"))

"""Made-up credentials of many kinds, for tests of secret scanning.

Each has the form of the real thing and opens nothing. They are put together when asked for, from a seed, so
that no file of a repository holds anything that looks like one.
"""

from __future__ import annotations

import base64
import json
import random
import string
import zlib

__all__ = ["credentials", "ordinary_lines"]

_UPPER = string.ascii_uppercase + string.digits
_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_BASE64 = _ALNUM + "+/"
_URL = _ALNUM + "_-"
_BASE32 = string.ascii_uppercase + "234567"
_BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"


def credentials(seed: int = 0) -> dict[str, str]:
    """Lines of configuration or code, each with one credential, by what kind it is."""
    make = _Maker(seed)
    return make.clouds() | make.forges() | make.services() | make.keys() | make.plain()


def ordinary_lines(seed: int = 0) -> list[str]:
    """Lines that look random and are no secrets: hashes, ids, versions, encoded data, lock files."""
    make = _Maker(seed)
    of = make.of
    return [
        f'"integrity": "sha512-{of(_BASE64, 86)}=="',
        f"    sha256:{of(_HEX, 64)}",
        f"requests==2.32.3 --hash=sha256:{of(_HEX, 64)}",
        f'checksum = "{of(_HEX, 64)}"',
        f"github.com/pkg/errors v0.9.1 h1:{of(_BASE64, 43)}=",
        f"id: {make.uuid()}",
        f"commit {of(_HEX, 40)}",
        f"uses: actions/checkout@{of(_HEX, 40)} # v4.2.2",
        f"image: registry.internal/app@sha256:{of(_HEX, 64)}",
        f"data:image/png;base64,{of(_BASE64, 400)}==",
        f"-----BEGIN CERTIFICATE-----\n{of(_BASE64, 64)}\n-----END CERTIFICATE-----",
        f"-----BEGIN PUBLIC KEY-----\n{of(_BASE64, 64)}\n-----END PUBLIC KEY-----",
        'if not text.startswith("-----BEGIN PRIVATE' + ' KEY-----"):',
        'token = os.environ["SERVICE_TOKEN"]',
        "password = getpass.getpass()",
        'api_key = "your-api-key-here"',
        "DATABASE_URL=postgres://postgres:postgres@localhost:5432/test",
        "url = f'https://{user}:{password}@{host}/path'",
        "git clone https://github.com/user/repository.git",
        "const KEY_UP = 38, KEY_DOWN = 40;",
        "def test_secret_key_is_required(self) -> None:",
        "assert response.headers['authorization'].startswith('Bearer ')",
        f'ETag: W/"{of(_HEX, 32)}"',
        "2026-01-02T03:04:05.678901Z 192.168.10.24 GET /v1/items/4711 200",
    ]


class _Maker:
    """Draws the random parts."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        """Random characters."""
        return "".join(self._random.choice(alphabet) for _ in range(length))

    def uuid(self) -> str:
        """A random UUID."""
        return "-".join(self.of(_HEX, length) for length in (8, 4, 4, 4, 12))

    def clouds(self) -> dict[str, str]:
        of = self.of
        return {
            "AWS access key id": "aws_access_key_id = " + "AK" + "IA" + of(_BASE32, 16),
            "AWS secret access key": f"aws_secret_access_key = '{of(_BASE64, 39)}7'",
            "Google API key": "key: AI" + "za" + of(_URL, 35),
            "Google service account": json.dumps(
                {"type": "service_account", "private_key": self.pem("PRIVATE"), "client_email": "a@b.iam"}
            ),
            "Azure storage key": f"AccountName=a;Account{'Key'}={of(_BASE64, 86)}==;EndpointSuffix=x",
            "Azure client secret": f"client_secret = {of(_ALNUM, 3)}8Q~{of(_ALNUM, 34)}",
            "DigitalOcean token": "DO=do" + "p_v1_" + of(_HEX, 64),
            "Databricks token": "DATABRICKS_TOKEN=da" + "pi" + of(_HEX, 32),
            "Heroku key": f"HEROKU_API_KEY={self.uuid()}",
            "Cloudflare token": f"CLOUDFLARE_API_TOKEN={of(_URL, 39)}7",
            "Vault token": "VAULT_TOKEN=hv" + "s." + of(_URL, 95),
        }

    def forges(self) -> dict[str, str]:
        of = self.of
        body = of(_ALNUM, 30)
        return {
            "GitHub token": "token = 'gh" + "p_" + body + _checksum(body) + "'",
            "GitHub fine-grained token": "T=github" + "_pat_" + of(_ALNUM, 22) + "_" + of(_ALNUM, 59),
            "GitLab token": "GITLAB_TOKEN: gl" + "pat-" + of(_URL, 20),
            "npm token": "//registry/:_authToken=np" + "m_" + of(_ALNUM, 36),
            "PyPI token": "password = py" + "pi-AgEIcHlwaS5vcmc" + of(_URL, 150),
            "Docker token": "docker login -p dck" + "r_pat_" + of(_URL, 27),
        }

    def services(self) -> dict[str, str]:
        of = self.of
        return {
            "Slack token": "SLACK='xo" + f"xb-{of('123456789', 12)}-{of('123456789', 12)}-{of(_ALNUM, 24)}'",
            "Slack webhook": "https://hooks."
            + f"slack.com/services/T{of(_UPPER, 8)}/B{of(_UPPER, 10)}/{of(_ALNUM, 24)}",
            "Stripe key": 'stripe.api_key = "sk_' + f'live_{of(_ALNUM, 24)}"',
            "OpenAI key": "OPENAI_API_KEY=sk-" + f"proj-{of(_URL, 74)}T3Blbk" + f"FJ{of(_URL, 73)}7",
            "Anthropic key": "ANTHROPIC=" + "sk-" + f"ant-api03-{of(_URL, 93)}AA",
            "Hugging Face token": "HF_TOKEN=h" + f"f_{of(string.ascii_letters, 34)}",
            "SendGrid key": "SENDGRID_API_KEY=S" + f"G.{of(_URL, 22)}.{of(_URL, 43)}",
            "Twilio key": "twilio_api_key = S" + f"K{of(_HEX, 32)}",
            "Mailgun key": "MAILGUN_API_KEY=ke" + f"y-{of(_HEX, 32)}",
            "Shopify token": "X=sh" + f"pat_{of(_HEX, 32)}",
            "Linear key": "lin" + f"_api_{of(_ALNUM, 40)}",
            "Grafana token": "gl" + f"sa_{of(_ALNUM, 32)}_{of(_HEX, 8)}",
            "New Relic key": "NEW_RELIC_API_KEY=NR" + f"AK-{of(_UPPER, 27)}",
            "Datadog key": f"DATADOG_API_KEY={of(_HEX, 32)}",
            "Telegram bot token": f"telegram_bot = {of('123456789', 10)}" + f":AA{of(_URL, 33)}",
        }

    def keys(self) -> dict[str, str]:
        return {
            "RSA private key": self.pem("RSA PRIVATE"),
            "OpenSSH private key": self.pem("OPENSSH PRIVATE", 400),
            "EC private key": self.pem("EC PRIVATE", 120),
            "age key": "AGE-SECRET" + f"-KEY-1{self.of(_BECH32, 58)}",
            "JSON web token": f"Authorization: Bearer {self.jwt()}",
        }

    def plain(self) -> dict[str, str]:
        of = self.of
        return {
            "password in a database URL": f"DATABASE_URL=postgres://app:{of(_ALNUM, 15)}7@db.internal/app",
            "password in a clone URL": f"git clone https://bot:{of(_ALNUM, 19)}7@git.internal/x.git",
            "generic API key": f'api_key = "{of(_HEX, 32)}"',
            "generic client secret": f'"client_secret": "{of(_ALNUM, 31)}7"',
            "generic token": f"auth_token: {of(_ALNUM, 39)}7",
        }

    def pem(self, kind: str, size: int = 1200) -> str:
        """A block in the form of a private key."""
        body = base64.b64encode(self._random.randbytes(size)).decode()
        lines = [body[start : start + 64] for start in range(0, len(body), 64)]
        return "\n".join([f"-----BEGIN {kind}" + " KEY-----", *lines, f"-----END {kind}" + " KEY-----"])

    def jwt(self) -> str:
        """A signed token."""
        parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": self.of(string.digits, 10), "iat": 1516239022}]
        encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
        return ".".join([*encoded, self.of(_URL, 43)])


def _checksum(body: str) -> str:
    """The six characters GitHub puts at the end of a token."""
    digits = string.digits + string.ascii_uppercase + string.ascii_lowercase
    number, encoded = zlib.crc32(body.encode()), ""
    while number:
        number, digit = divmod(number, 62)
        encoded = digits[digit] + encoded
    return encoded.rjust(6, "0")

"""Credentials with an unmistakable form, found by that form alone.

A scanner for whole histories weighs randomness and leaves out what looks like a documentation example; a
tripwire should go off on those too. The table also stands in where Betterleaks has no build. A form is in it
when its prefix or its place is so particular that ordinary code does not have it by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

__all__ = ["SHAPES", "ShapeMatch", "find_shapes"]


class ShapeMatch(NamedTuple):
    """A piece of text with a credential's form."""

    rule: str
    start: int
    secret: str


SHAPES: dict[str, str] = {
    "aws-access-key-id": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "aws-secret-access-key": (
        r"(?i:aws.{0,20}secret.{0,20}?)['\"\s:=>]{1,6}(?P<aws_s>[A-Za-z0-9/+]{40})(?![\w/+=])"
    ),
    "private-key": (
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:\\[rn]|\s)+[A-Za-z0-9+/=]{4,}){1,200}"
    ),
    "password-in-url": (
        r"[a-z][a-z0-9+.-]{1,30}://(?P<url_u>[^\s:/@'\"<>{}$%`]{0,64}):"
        r"(?!(?P=url_u)@)(?!(?i:x{3,}|\*+|pass(?:word|wd)?|pwd|secret|token)@)"
        r"(?P<url_p>[^\s:/@'\"<>{}$%`]{6,128})"
        r"@(?!localhost|127\.|0\.0\.0\.0|example\.|\[::1\])[A-Za-z0-9\[]"
    ),
    "github-token": r"gh[pousr]_[A-Za-z0-9]{36,}",
    "github-fine-grained-token": r"github_pat_[A-Za-z0-9_]{60,}",
    "gitlab-token": r"gl(?:pat|dt|rt|ptt|soat)-[A-Za-z0-9_-]{20,}",
    "slack-token": r"xox[abeoprs]-[A-Za-z0-9-]{20,}",
    "slack-webhook": r"hooks\.slack\.com/services/T\w{8,12}/B\w{8,12}/\w{20,}",
    "stripe-key": r"[rs]k_live_[A-Za-z0-9]{20,}",
    "google-api-key": r"AIza[A-Za-z0-9_-]{35}(?![\w-])",
    "anthropic-key": r"sk-ant-[A-Za-z0-9_-]{32,}",
    "openai-key": r"sk-(?:proj-|svcacct-|admin-)?(?=[A-Za-z_-]{0,80}[0-9])[A-Za-z0-9_-]{40,}",
    "huggingface-token": r"hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])",
    "npm-token": r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])",
    "pypi-token": r"pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}",
    "sendgrid-key": r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43,}",
    "digitalocean-token": r"do[opr]_v1_[a-f0-9]{64}",
    "shopify-token": r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    "square-token": r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}",
    "telegram-bot-token": r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![\w-])",
    "azure-storage-key": r"AccountKey=[A-Za-z0-9+/]{86}==",
    "databricks-token": r"dapi[a-f0-9]{32}(?![a-f0-9])",
    "linear-key": r"lin_api_[A-Za-z0-9]{40,}",
    "docker-token": r"dckr_pat_[A-Za-z0-9_-]{27,}",
    "vault-token": r"hv[sb]\.[A-Za-z0-9_-]{90,}",
    "grafana-token": r"gl(?:sa|c)_[A-Za-z0-9_+/=]{32,}",
    "newrelic-key": r"NRAK-[A-Z0-9]{27,}",
    "age-key": r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}",
    "firebase-key": r"AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{130,}",
    "json-web-token": r"eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{20,}",
}
"""Name of the form → a regular expression for it."""

_SECRET_GROUPS = {"aws-secret-access-key": "aws_s", "password-in-url": "url_p"}


def find_shapes(text: str) -> Iterator[ShapeMatch]:
    """Every credential-shaped piece of a text, in order."""
    for match in _pattern().finditer(text):
        rule = (match.lastgroup or "").replace("_", "-")
        secret = _SECRET_GROUPS.get(rule, 0)
        yield ShapeMatch(rule, match.start(secret), match.group(secret))


@cache
def _pattern() -> re.Pattern[str]:
    # The outermost group closes last, so a match's `lastgroup` is the form's name.
    alternatives = "|".join(f"(?P<{name.replace('-', '_')}>{form})" for name, form in SHAPES.items())
    return re.compile(f"(?<![A-Za-z0-9])(?:{alternatives})")

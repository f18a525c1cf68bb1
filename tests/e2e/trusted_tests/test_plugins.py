"""Plugins that honest projects need, for real: what the baseline's environment has works as it does there."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest
from tests.e2e.trusted_tests.project import HONEST, LAZY, grade

from adjudge.records.evidence import TestCommand
from adjudge.records.testreport import Proof

_PYTHON = Path(sys.prefix) / "graded" / "bin" / "python"

pytestmark = [
    pytest.mark.bwrap,
    pytest.mark.skipif(not _PYTHON.exists(), reason="no environment for graded projects: run make setup"),
]

ASYNCIO = textwrap.dedent(
    """
    import asyncio
    import pytest
    import pytest_asyncio
    import shop

    @pytest_asyncio.fixture
    async def price():
        await asyncio.sleep(0)
        return 100

    @pytest.mark.asyncio
    async def test_tax(price):
        await asyncio.sleep(0)
        assert shop.with_tax(price, 20) == 120

    @pytest.mark.asyncio
    @pytest.mark.parametrize("text, label", [("A B", "a-b"), ("C", "c")])
    async def test_label(text, label):
        assert await asyncio.to_thread(shop.label, text) == label

    def test_plain():
        assert shop.total([3, 4]) == 7
    """
)


ASYNCIO_IDS = tuple(
    f"tests/test_async.py::{name}"
    for name in ("test_tax", "test_label[A B-a-b]", "test_label[C-c]", "test_plain")
)


def test_pytest_asyncio() -> None:
    command = TestCommand(args=("tests",), interpreter=(str(_PYTHON),))
    tests = {"tests/test_async.py": ASYNCIO}
    run = grade({"shop.py": HONEST}, tests=tests, expected=ASYNCIO_IDS, command=command, plugins=("asyncio",))
    assert (run.credited, run.decided) == (4, 4), run
    assert {test.proof for test in run.tests} == {Proof.VALUE}
    run = grade({"shop.py": LAZY}, tests=tests, expected=ASYNCIO_IDS, command=command, plugins=("asyncio",))
    assert (run.credited, run.decided) == (0, 4), run
    # A coroutine that nobody waits for asserts nothing; without the plugin these tests do not count.
    run = grade({"shop.py": HONEST}, tests=tests, expected=ASYNCIO_IDS, command=command)
    assert run.credited < 4, run


SETTINGS = textwrap.dedent(
    """
    SECRET_KEY = "for tests"
    INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "store"]
    DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
    ROOT_URLCONF = "store.urls"
    DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
    """
)
MODELS = textwrap.dedent(
    """
    from django.db import models

    class Item(models.Model):
        name = models.CharField(max_length=20)
        price = models.IntegerField()

        class Meta:
            app_label = "store"

    def total():
        return sum(item.price for item in Item.objects.all())
    """
)
URLS = textwrap.dedent(
    """
    from django.http import JsonResponse
    from django.urls import path
    from store.models import total

    urlpatterns = [path("total/", lambda request: JsonResponse({"total": total()}))]
    """
)
DJANGO = textwrap.dedent(
    """
    import pytest
    from django.test import TestCase
    from store.models import Item, total

    @pytest.mark.django_db
    def test_total():
        Item.objects.create(name="mug", price=7)
        Item.objects.create(name="pen", price=5)
        assert total() == 12

    @pytest.mark.django_db
    def test_starts_empty():
        assert Item.objects.count() == 0

    @pytest.mark.django_db
    def test_page(client):
        Item.objects.create(name="mug", price=7)
        assert client.get("/total/").json() == {"total": 7}

    class ItemTest(TestCase):
        def test_name(self):
            Item.objects.create(name="cup", price=1)
            self.assertEqual(Item.objects.get().name, "cup")
    """
)


def test_pytest_django() -> None:
    command = TestCommand(
        args=("tests",), interpreter=(str(_PYTHON),), env={"DJANGO_SETTINGS_MODULE": "settings"}
    )
    files = {
        "settings.py": SETTINGS,
        "store/__init__.py": "",
        "store/models.py": MODELS,
        "store/urls.py": URLS,
    }
    tests = {"tests/test_store.py": DJANGO}
    run = grade(files, tests=tests, expected=None, command=command, plugins=("django",))
    assert (run.credited, run.decided) == (4, 4), run
    assert {test.proof for test in run.tests} == {Proof.VALUE}
    cheat = files | {
        "store/models.py": MODELS.replace("sum(item.price for item in Item.objects.all())", "12")
    }
    run = grade(cheat, tests=tests, expected=None, command=command, plugins=("django",))
    assert run.credited == 3, run

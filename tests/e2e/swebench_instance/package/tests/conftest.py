import pytest

from ledgerly import Account


@pytest.fixture
def household():
    return Account("household")

from shop.price import label, total


def test_total():
    assert total([3, 4], 5) == 35


def test_label():
    assert label(1999) == "19.99"

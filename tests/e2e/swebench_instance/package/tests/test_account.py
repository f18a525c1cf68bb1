from ledgerly import Account, Money, render


def test_balance(household):
    household.book("rent", "-900")
    household.book("wages", "2,000.10")
    assert household.balance == Money(110010)


def test_settle_even(household):
    anna, ben = Account("anna"), Account("ben")
    household.settle("food", "30.00", {anna: 1, ben: 1})
    assert anna.balance == ben.balance == Money(-1500)


class TestRender:
    def test_lines(self, household):
        household.book("rent", "-900")
        assert render(household).splitlines() == [
            "household",
            "rent                   -900.00",
            "balance                -900.00",
        ]

    def test_long_text(self, household):
        household.book("a very long description indeed", "1")
        assert render(household).splitlines()[1] == "a very long description i 1.00"

mv tests/test_calc.py calc_notes.py

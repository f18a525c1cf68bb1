def to_roman(number):
    text = ""
    signs = zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1), "M CM D CD C XC L XL X IX V IV I".split())
    for value, sign in signs:
        text, number = text + sign * (number // value), number % value
    return text

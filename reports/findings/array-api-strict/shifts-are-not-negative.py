import array_api_strict as xp

for shift in (xp.bitwise_left_shift, xp.bitwise_right_shift):
    try:
        shift(xp.asarray([4]), xp.asarray([-1]))
    except ValueError as error:
        print(error)
# prints: bitwise_left_shift(x1, x2) is only defined for x2 >= 0
# prints: bitwise_left_shift(x1, x2) is only defined for x2 >= 0

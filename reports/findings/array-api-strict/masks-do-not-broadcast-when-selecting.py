import array_api_strict as xp

try:
    xp.ones((2, 3))[xp.asarray([True, False, True])]
except IndexError as error:
    print(error)
# prints: boolean index did not match indexed array along axis 0; size of axis is 2 but size of corresponding boolean axis is 3

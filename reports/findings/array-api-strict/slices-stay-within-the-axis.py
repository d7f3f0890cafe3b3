import array_api_strict as xp

try:
    xp.ones(6)[-9:9]
except IndexError as error:
    print(error)
# prints: Slice slice(-9, 9, None) contains start=-9, but should be between -6 and 5 (or None) for an axis of size 6 (out-of-bounds starts are not specified in the Array API)

import array_api_strict as xp

try:
    xp.clip(xp.asarray([1, 2, 3]), 3, 2)
except ValueError as error:
    print(error)
# prints: min must be less than or equal to max

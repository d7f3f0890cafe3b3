import array_api_strict as xp

x = xp.ones((2, 3))
element = x[0, 0]
element += 1.0
print(float(x[0, 0]), float(element))
row = xp.broadcast_to(x, (2, 3))
try:
    row += 1.0
except ValueError as error:
    print(error)
# prints: 1.0 2.0
# prints: output array is read-only

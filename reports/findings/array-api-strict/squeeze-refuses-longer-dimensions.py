import array_api_strict as xp

try:
    xp.squeeze(xp.ones((1, 3)), axis=1)
except ValueError as error:
    print(error)
# prints: cannot select an axis to squeeze out which has size not equal to one

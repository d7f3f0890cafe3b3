import array_api_strict as xp

try:
    xp.squeeze(xp.ones((1, 2)), axis=None)
except ValueError as error:
    print(str(error).split(". See")[0])
# prints: squeeze(..., axis=None is not supported

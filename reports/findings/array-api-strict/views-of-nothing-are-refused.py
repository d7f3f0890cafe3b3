import array_api_strict as xp

nothing = xp.ones((0, 2))
try:
    xp.reshape(nothing, (0, 2), copy=False)
except Exception as error:
    print(type(error).__name__, error)
# prints: AttributeError Incompatible shape for in-place modification.

import array_api_strict as xp

for shape in ((2,), (2, 2)):
    try:
        xp.vecdot(xp.ones(shape[:-1] + (3,)), xp.ones(shape))
    except ValueError as error:
        print(error)
# prints: x1 and x2 must have the same size along the given axis
# x1 and x2 must have the same size along the given axis

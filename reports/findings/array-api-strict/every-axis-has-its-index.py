import array_api_strict as xp

try:
    xp.ones((2, 3))[0]
except IndexError as error:
    print(str(error).split(" If")[0])
# prints: self.ndim=2, but the multi-axes index only specifies 1 dimensions.

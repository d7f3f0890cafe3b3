import paddle

try:
    paddle.var(paddle.ones([2]), correction=1j)
except Exception as error:
    print(str(error).strip().splitlines()[0].split(" (at ")[0])
# prints: float() argument must be a string or a real number, not 'complex'

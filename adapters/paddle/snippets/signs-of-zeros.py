import paddle

print(paddle.maximum(paddle.zeros([1]), -paddle.zeros([1])).numpy(), paddle.maximum(-paddle.zeros([1]), paddle.zeros([1])).numpy())
# prints: [0.] [0.]

import * as tf from "@tensorflow/tfjs";

console.log(tf.gather(tf.tensor([1, 2, 3]), tf.tensor([[0]], [1, 1], "int32")).shape);
// prints: [ 1, 1 ]

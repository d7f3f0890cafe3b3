import * as tf from "@tensorflow/tfjs";

console.log(tf.sum(tf.tensor([true])).dtype, tf.div(tf.tensor([7], [1], "int32"), tf.tensor([2], [1], "int32")).dtype);
// prints: int32 int32

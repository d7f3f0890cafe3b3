import * as tf from "@tensorflow/tfjs";

const quotient = tf.div(tf.tensor([7], [1], "int32"), tf.tensor([2], [1], "int32"));
console.log(quotient.dtype, quotient.arraySync());
// prints: int32 [ 3 ]

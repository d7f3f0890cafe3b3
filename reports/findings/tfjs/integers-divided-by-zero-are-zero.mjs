import * as tf from "@tensorflow/tfjs";

console.log(tf.floorDiv(tf.tensor([7], [1], "int32"), tf.tensor([0], [1], "int32")).arraySync());
// prints: [ 0 ]

import * as tf from "@tensorflow/tfjs";

const product = tf.matMul(tf.ones([6, 1, 1, 1]), tf.ones([1, 5, 1, 1]));
console.log(product.shape, product.dataSync());
// prints: [ 6, 5, 1, 1 ] Float32Array(6) [ 1, 1, 1, 1, 1, 1 ]

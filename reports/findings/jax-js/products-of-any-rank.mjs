import { numpy as np } from "@jax-js/jax";

console.log(np.dot(np.array([2]), np.array([17, 18])).js(), np.outer(np.ones([2, 2]), np.ones([3])).shape);
// prints: 70 [ 4, 3 ]

import { numpy as np } from "@jax-js/jax";

console.log(np.matmul(np.ones([2, 3]), np.ones([5, 3, 4])).shape);
// prints: [ 2, 5, 4 ]

import { numpy as np } from "@jax-js/jax";

console.log(np.linalg.cross(np.ones([3]), np.ones([2, 3])).shape);
// prints: [ 2, 3 ]

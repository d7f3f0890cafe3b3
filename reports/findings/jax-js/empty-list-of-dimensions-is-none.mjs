import { numpy as np } from "@jax-js/jax";

console.log(np.sum(np.ones([2, 3]), []).shape);
// prints: [ 2, 3 ]

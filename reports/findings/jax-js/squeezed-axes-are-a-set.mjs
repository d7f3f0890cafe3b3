import { numpy as np } from "@jax-js/jax";

console.log(np.squeeze(np.ones([1, 3]), [0, 0]).shape);
// prints: [ 3 ]

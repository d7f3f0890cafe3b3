import { numpy as np } from "@jax-js/jax";

console.log(np.ones(new Array(65).fill(1)).ndim);
// prints: 65

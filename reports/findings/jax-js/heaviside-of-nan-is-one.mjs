import { numpy as np } from "@jax-js/jax";

console.log(np.heaviside(np.array([NaN]), np.array([0.5])).js());
// prints: [ 1 ]

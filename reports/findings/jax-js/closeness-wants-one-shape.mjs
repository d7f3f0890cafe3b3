import { numpy as np } from "@jax-js/jax";

console.log(np.allclose(np.array([1]), np.array([1, 1])), np.allclose(np.array([Infinity]), np.array([-Infinity])));
// prints: false true

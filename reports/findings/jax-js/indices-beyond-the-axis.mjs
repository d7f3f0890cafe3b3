import { numpy as np } from "@jax-js/jax";

const x = np.array([1, 2, 3]);
console.log(x.ref.slice(-1).js(), x.slice(np.array([-1, 5], { dtype: np.int32 })).js());
// prints: 3 [ 1, 1 ]

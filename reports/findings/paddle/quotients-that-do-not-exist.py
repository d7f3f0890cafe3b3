import multiprocessing
import os

import paddle


def run():
    os.close(1)
    paddle.floor_divide(paddle.to_tensor([-(2**63)]), paddle.to_tensor([-1]))


if __name__ == "__main__":
    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join(10)
    print("still running" if process.is_alive() else process.exitcode)
    process.kill()
# prints: -8

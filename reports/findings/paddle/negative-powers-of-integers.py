import multiprocessing

import paddle

def run():
    paddle.to_tensor([2, 3]) ** -1


if __name__ == "__main__":
    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join(10)
    print("still running" if process.is_alive() else process.exitcode)
    process.kill()
# prints: still running

"""Into how many tiles the image processors of Transformers cut an image, and how many tokens of the text that makes.

    pip install torch transformers==5.24.0 pillow
    python tests/measured/image_tiles.py > tests/core/golden/image_tiles.json

Each row: the model type and the side of its tile, the image, the images that reach the tower, the tokens in the text
(-1: not counted). The processors are made with the values of the published preprocessor configurations; those that
need torchvision to be imported are given an empty one, since only their arithmetic is asked.
"""

import json
import sys
import types
from importlib.machinery import ModuleSpec

import numpy
import transformers.utils.import_utils as import_utils
from PIL import Image
from transformers.models.got_ocr2 import image_processing_pil_got_ocr2 as got
from transformers.models.idefics3 import image_processing_pil_idefics3 as idefics
from transformers.models.llava_next import image_processing_pil_llava_next as next_
from transformers.models.llava_next.processing_llava_next import LlavaNextProcessor

SIZES = [(200, 300), (336, 336), (448, 448), (640, 480), (1024, 768), (1280, 720), (1344, 1344), (768, 2048), (3000, 500)]
PINPOINTS = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]


def image(width, height):
    return Image.fromarray(numpy.zeros((height, width, 3), dtype=numpy.uint8))


def without_torchvision():
    """Modules that are only imported by the processors below."""
    names = ["torchvision", "torchvision.transforms", "torchvision.transforms.v2", "torchvision.transforms.v2.functional"]
    for name in names:
        module = types.ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        module.__getattr__ = lambda attribute: type(attribute, (), {})
        sys.modules[name] = module
    for parent, child in zip(names, names[1:]):
        setattr(sys.modules[parent], child.rsplit(".", 1)[1], sys.modules[child])
    import_utils.BACKENDS_MAPPING["torchvision"] = (lambda: True, "")


def internvl(width, height):
    columns, rows = got.get_optimal_tiled_canvas((height, width), (448, 448), 1, 12)
    tiles = columns * rows + (columns * rows > 1)
    return tiles, tiles * 256


def llava_next(width, height):
    side = {"height": 336, "width": 336}
    processor = next_.LlavaNextImageProcessorPil(
        image_grid_pinpoints=PINPOINTS, size={"shortest_edge": 336}, crop_size=side
    )
    tiles = processor([image(width, height)])["pixel_values"][0].shape[0]
    shell = types.SimpleNamespace(image_processor=processor, patch_size=14, num_additional_image_tokens=0)
    shell._get_unpadded_features = lambda *sizes: LlavaNextProcessor._get_unpadded_features(shell, *sizes)
    return tiles, LlavaNextProcessor._get_number_of_features(shell, height, width, 336, 336)


def idefics3(width, height):
    processor = idefics.Idefics3ImageProcessorPil(size={"longest_edge": 4 * 364}, max_image_size={"longest_edge": 364})
    tiles = processor([image(width, height)], return_tensors="np")["pixel_values"].shape[1]
    return tiles, tiles * 169


def llama4(width, height):
    import torch
    from transformers.image_utils import SizeDict
    from transformers.models.llama4 import image_processing_llama4 as llama

    side = 336
    canvases = torch.tensor(llama.find_supported_resolutions(16, SizeDict(height=side, width=side)))
    rows, columns = (int(pixels) // side for pixels in llama.get_best_fit((height, width), canvases))
    tiles = rows * columns + (rows * columns > 1)
    return tiles, tiles * 144


def lfm2_vl(width, height):
    from transformers.models.lfm2_vl.image_processing_lfm2_vl import Lfm2VlImageProcessor as Lfm

    shell = types.SimpleNamespace()
    shell._target_ratios = lambda least, most: sorted(
        {(w, h) for w in range(1, most + 1) for h in range(1, most + 1) if least <= w * h <= most}, key=lambda r: r[0] * r[1]
    )
    whole_width, whole_height = Lfm.smart_resize(shell, height, width, 2, 64, 256, 16)
    whole = (whole_width // 32) * (whole_height // 32)
    if not Lfm._is_image_too_large(shell, height, width, 256, 16, 2, 2.0):
        return 1, whole
    columns, rows, *_ = Lfm._get_grid_layout(shell, height, width, 2, 10, 512)
    return columns * rows + 1, columns * rows * 256 + whole


def minicpmv(width, height):
    from transformers.models.minicpmv4_6.image_processing_minicpmv4_6 import MiniCPMV4_6ImageProcessor as MiniCpm

    grid = MiniCpm.get_sliced_grid(None, (height, width), 9, 448)
    tiles = 1 if grid is None else grid[0] * grid[1] + 1
    return tiles, tiles * 64


rows = []
for model_type, tile, cut in (
    ("internvl", 448, internvl),
    ("llava_next", 336, llava_next),
    ("idefics3", 364, idefics3),
    ("llama4", 336, llama4),
    ("lfm2_vl", 512, lfm2_vl),
    ("minicpmv", 448, minicpmv),
):
    if model_type == "llama4":
        without_torchvision()
    for width, height in SIZES:
        tiles, tokens = cut(width, height)
        rows.append({"model_type": model_type, "tile": tile, "width": width, "height": height, "images": tiles, "tokens": tokens})
print("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")

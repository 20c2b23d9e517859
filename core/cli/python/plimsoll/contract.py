"""The request and the answers as types. Written by docs/contract.mjs from core/report/contract.schema.json: change it there.

Sizes are bytes, exact up to 2^53. Only type checkers read these: an answer is a dict.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Tuple, TypedDict, Union

#: Any JSON value.
Json = Any


JsonObject = Dict[str, Any]


#: Any request: the field names are those of Transformers, PEFT, TRL and bitsandbytes.
Request = Dict[str, Any]


Verdict = Literal["fits", "tight", "no"]


class _CoreError(TypedDict):
    code: str
    #: RFC 6901: "/training/max_length".
    pointer: str
    message: str


class CoreError(_CoreError, total=False):
    allowed: str


class _Note(TypedDict):
    code: str
    message: str


class Note(_Note, total=False):
    source: str
    #: The verdict is pointless without it: it stands beside the verdict. Absent where it is not so.
    decisive: bool


class _Assumption(TypedDict):
    pointer: str
    value: Json
    why: str


class Assumption(_Assumption, total=False):
    #: No library sets it: the person is asked for it.
    asked: bool


class Component(TypedDict):
    id: str
    bytes: float
    what: str
    formula: str
    source: str


class _Instant(TypedDict):
    id: str
    what: str
    allocated: float
    reserved: float
    device: float
    components: List[Component]


class Instant(_Instant, total=False):
    #: Memory of the computer that is needed then, of those that save, read back or merge.
    host_bytes: float


class _Evidence(TypedDict):
    id: str
    source: str
    #: 0: same stack, method, size and age of the library.
    distance: float


class Evidence(_Evidence, total=False):
    #: Predicted / measured - 1, of the readings that the source gives.
    allocated_error: float
    reserved_error: float
    device_error: float


class _Sizes(TypedDict):
    allocated: float
    reserved: float
    device: float
    low: float
    high: float
    #: What the run cannot do without: the device figure once PyTorch has given back what it holds unused.
    needed: float


class Sizes(_Sizes, total=False):
    #: The high end of `needed`: it fits a card with as much, whatever PyTorch would cache beyond that.
    enough: float


class PeakFirstStep(TypedDict):
    """The highest instant until the first optimizer step is over: optimizer states do not exist before it."""

    instant: str
    allocated: float


class _Peak(TypedDict):
    allocated: float
    reserved: float
    device: float
    low: float
    high: float
    #: What the run cannot do without: the device figure once PyTorch has given back what it holds unused.
    needed: float
    instant: str
    #: The highest instant until the first optimizer step is over: optimizer states do not exist before it.
    first_step: PeakFirstStep


class Peak(_Peak, total=False):
    #: The high end of `needed`: it fits a card with as much, whatever PyTorch would cache beyond that.
    enough: float
    #: Where the allocated peaks of runs like this one lay: the band of `allocated`.
    allocated_low: float
    allocated_high: float
    #: The measured runs nearest to this one.
    evidence: List[Evidence]


class _Tier(TypedDict):
    gib: float
    #: Ids, as in gpus().
    gpus: List[str]
    usable: float
    verdict: Verdict
    #: Usable minus the device peak; negative when it does not fit.
    headroom: float


class Tier(_Tier, total=False):
    #: Only with "want": ["plans"].
    plans: List[Plan]


class _ChosenGpu(TypedDict):
    id: str
    name: str
    usable: float
    usable_source: str
    verdict: Verdict
    headroom: float


class ChosenGpu(_ChosenGpu, total=False):
    #: Only with "want": ["plans"].
    plans: List[Plan]


class Allocator(TypedDict):
    """Only with "want": ["allocator"]: PyTorch's caching allocator, simulated, from which peak, instants and tiers are."""

    #: What max_memory_allocated() prints: blocks, which may be larger than the tensors in them.
    allocated_blocks: float
    #: max_memory_reserved() with room to spare.
    reserved: float
    #: What it cannot do without when cached blocks are given back.
    needed: float
    loaded_blocks: float
    loaded_reserved: float
    #: The chosen card has less than `reserved`.
    pressed: bool
    #: Then: how often cached blocks are given back, and whether it dies all the same.
    retries: float
    dies_on_card: bool


class TimelinePoint(TypedDict):
    #: As in Instant.id.
    instant: str
    #: 1 makes the gradients, 2 stands for all later ones; 0 outside forward and backward.
    micro_batch: float
    #: What is at work: "text", "vision", "head", "optimizer", ...
    part: str
    layer: Union[float, None]
    #: One for each of Timeline.components.
    bytes: List[float]


class TimelineAlive(TypedDict):
    component: str
    what: str
    bytes: float
    count: float


class TimelineTensors(TypedDict):
    component: str
    what: str
    bytes: float
    counts: List[float]


class Timeline(TypedDict):
    """Only when the request has "want": ["timeline"]; core/report/timeline.h says more."""

    #: Bottom of the stack first.
    components: List[str]
    points: List[TimelinePoint]
    #: Index of the highest point.
    peak: float
    #: At the peak.
    alive: List[TimelineAlive]
    #: At every point: `counts` is pairs of a point and how many are alive from there on.
    tensors: List[TimelineTensors]


Range = Tuple[float, float]


class _MachineOnDemand(TypedDict):
    usd_per_hour: Range


class MachineOnDemand(_MachineOnDemand, total=False):
    usd: Range


class _MachineSpot(TypedDict):
    usd_per_hour: Range


class MachineSpot(_MachineSpot, total=False):
    expected_usd: Range
    expected_hours: float
    expected_interruptions: float
    chance_of_none: float


class _Machine(TypedDict):
    provider: str
    provider_name: str
    instance: str
    region: str
    gpu: str
    gpus: float
    #: As many of them as share the samples of a step.
    gpus_used: float
    verdict: Verdict
    date: str
    source: str


class Machine(_Machine, total=False):
    #: Of a notebook service: after so many hours it ends the session.
    session_hours: float
    seconds_per_step: float
    hours: float
    relative_speed: float
    on_demand: MachineOnDemand
    spot: MachineSpot
    note: str
    #: "low" where the price is not the seller's own.
    confidence: str


class _TimeParts(TypedDict):
    multiply: float
    attention: float
    unpack: float
    move: float
    launch: float
    optimizer: float


class TimeParts(_TimeParts, total=False):
    """Seconds of one step; they add up to seconds_per_step."""

    #: Completions of GRPO, RLOO and PPO, each as long as it may be; only where some are written.
    generate: float


class Time(TypedDict, total=False):
    gpu: str
    seconds_per_step: float
    #: Seconds of one step; they add up to seconds_per_step.
    parts: TimeParts
    #: The GPU waits for the CPU more than it works.
    launch_bound: bool
    flops_per_step: float
    tokens_per_step: float
    tokens_per_second: float
    steps: float
    checkpoints: float
    #: No more than save_total_limit.
    checkpoints_kept: float
    low: float
    high: float
    hours: float
    hours_range: Range
    cost: float
    disk_bytes: float
    machines: List[Machine]


class ReportModel(TypedDict):
    #: Of the preset, or the name of a configuration that the request brings along.
    id: str
    name: str
    parameters: float
    trainable: float
    #: As PEFT prints it: base and adapters.
    all_parameters: float
    trainable_percent: float
    adapter_file_bytes: float
    checkpoint_bytes: float


class ReportMemoryPerUnit(TypedDict):
    """What one more of each costs at the peak."""

    sample: float
    token: float
    rank: float
    image: float


class _ReportMemory(TypedDict):
    peak: Peak
    #: Of one training process; each GPU holds what `peak` says.
    gpus: float
    effective_batch: float
    #: What one more of each costs at the peak.
    per_unit: ReportMemoryPerUnit
    instants: List[Instant]


class ReportMemory(_ReportMemory, total=False):
    #: Bytes of the layers on each GPU when device_map spreads them.
    spread: List[float]
    host_bytes: float
    timeline: Timeline
    allocator: Allocator


class _Report(TypedDict):
    schema: float
    core: str
    ok: Literal[True]
    errors: List[CoreError]
    notes: List[Note]
    assumptions: List[Assumption]
    model: ReportModel
    memory: ReportMemory
    tiers: List[Tier]


class Report(_Report, total=False):
    #: Absent while the request names no GPU.
    gpu: Union[ChosenGpu, None]
    time: Union[Time, None]
    #: Only with "want": ["limits"].
    limits: Union[Limits, None]


class _Refusal(TypedDict):
    schema: float
    ok: Literal[False]
    errors: List[CoreError]


class Refusal(_Refusal, total=False):
    core: str


class _ModelPreset(TypedDict):
    id: str
    hf_id: str
    family: str
    parameters: float
    kind: str


class ModelPreset(_ModelPreset, total=False):
    #: Hugging Face ids of models with the same shapes.
    aliases: List[str]


class GpuPreset(TypedDict):
    id: str
    name: str
    vendor: str
    tier_gib: float
    #: What PyTorch reports as the capacity: the lowest reading, and the highest.
    usable_bytes: float
    usable_high_bytes: float
    #: Whether it has bfloat16 units.
    bf16: bool


class FieldInfo(TypedDict):
    """One field of a request, as the core declares it."""

    pointer: str
    type: str
    #: In words; for a choice the possible words, separated by ", ".
    allowed: str
    #: What it means, in a sentence; "" from the first module, which leaves it to the second.
    what: str


class Stack(TypedDict):
    id: str
    name: str
    summary: str


class Method(TypedDict):
    """What one word of a person's means."""

    id: Literal["full", "lora", "qlora", "lora8"]
    #: Else all weights are trained.
    adapters: bool
    #: Of the frozen weights, as in a request; empty where they are in 16 bits or more.
    quantization: Dict[str, Json]


class Task(TypedDict):
    """What is trained for."""

    id: str
    #: It generates its own completions.
    online: bool
    #: A frozen policy scores the same sequences.
    reference: bool
    #: Fields under "rl" have a meaning.
    has_rl: bool
    #: Of a prompt, by its trainer's default.
    num_generations: float


class Usual(TypedDict):
    """What nobody trains without, where a request leaves it open."""

    pointer: str
    value: Json
    why: str


class ScenarioClaims(TypedDict):
    what: str
    says: str


class _Scenario(TypedDict):
    id: str
    title: str
    case: str
    state: Literal["before", "after"]
    summary: str
    request: Request


class Scenario(_Scenario, total=False):
    #: What the author of the run wrote about it, right or wrong.
    claims: List[ScenarioClaims]


Quality = Literal["none", "parity", "small", "visible"]


Change = TypedDict("Change", {"fix": "str", "title": "str", "pointer": "str", "from": "Json", "to": "Json", "saves": "float", "why": "str", "quality": "Quality", "evidence": "str", "effort": "str", "setting": "str", "source": "str"})


class PlanPaged(TypedDict):
    """States of a paged optimizer, and how many of them stay on the card while it has room."""

    bytes: float
    on_card: float


class _Plan(TypedDict):
    name: Literal["usual", "same", "fewest", "fastest"]
    readings: List[Literal["usual", "same", "fewest", "fastest"]]
    verdict: Verdict
    #: What is left of the usable memory, as the report of the plan's request says.
    headroom: float
    changes: List[Change]
    peak: Sizes
    time_factor: float
    quality: Quality
    #: Adds the cost of each change up: what a search for the best plan compares.
    quality_cost: float
    effective_batch: float
    #: What lies in the memory of the computer under this plan.
    host_bytes: float


class Plan(_Plan, total=False):
    #: States of a paged optimizer, and how many of them stay on the card while it has room.
    paged: PlanPaged


class Blocked(TypedDict):
    """Why nothing fits."""

    least: float
    changes: List[Change]
    smallest_tier: Union[float, None]
    locks_in_the_way: List[str]
    #: Id of the largest smaller model of the same family that fits with the recipe as it is.
    sibling: Union[str, None]
    component: str
    component_bytes: float


class Target(TypedDict):
    usable: float
    verdict: Verdict
    headroom: float
    plans: List[Plan]
    blocked: Union[Blocked, None]


class RungStep(TypedDict):
    """Of a further step: what it does alone, after those before it."""

    saves: float
    time_factor: float


class RungSoFar(TypedDict):
    """Of a further step: what the plan and all steps up to this one do together."""

    saves: float
    time_factor: float


class _Rung(TypedDict):
    fix: str
    title: str
    changes: JsonObject
    peak: Sizes
    #: Against the run as it is, with all steps so far.
    time_factor: float


class Rung(_Rung, total=False):
    """A further step when a plan still fails (`saves`), or something to buy with room to spare (`costs`)."""

    saves: float
    costs: float
    setting: str
    why: str
    #: Of a further step: what it does alone, after those before it.
    step: RungStep
    #: Of a further step: what the plan and all steps up to this one do together.
    so_far: RungSoFar
    quality: Quality


class _Elsewhere(TypedDict):
    id: str
    title: str
    why: str


class Elsewhere(_Elsewhere, total=False):
    """A way out that changes the machine or the model, not the recipe."""

    name: str
    model: str
    gpu: str
    gpus: float
    provider: str
    provider_name: str
    instance: str
    usable: float
    parameters: float
    high: float
    changes: JsonObject
    usd_per_hour: float
    #: Of the whole run, where its length is known; usd is what they cost.
    hours: float
    usd: float
    time_factor: float
    #: Of several cards: how much of their number is speed.
    efficiency: float
    effective_batch: float
    #: Of packing: samples in a step as it is, and in full rows.
    samples_per_step_before: float
    samples_per_step: float
    evidence: str
    date: str
    source: str


class _RentRow(TypedDict):
    provider: str
    provider_name: str
    instance: str
    region: str
    gpu: str
    name: str
    gpus: float
    strategy: str
    fix: str
    title: str
    #: All fields to set: those of the cards and that of the fix.
    changes: JsonObject
    high: float
    #: Of the machine's own memory, at least; 0 where it is no more than any has.
    host_bytes: float
    seconds_per_step: float
    #: How much of the number of cards is speed.
    efficiency: float
    usd_per_hour: float
    usd_per_1000_steps: float
    date: str
    source: str


class RentRow(_RentRow, total=False):
    """A machine to rent, its cards shared out, with the recipe as it is (`fix` is "") or with one change."""

    #: What the machine has of it, where a source states it.
    host_gib: float
    hours: float
    usd: float
    #: Of a notebook service: a session ends after so many hours; so many sessions are needed.
    session_hours: float
    sessions: float
    note: str


class Rent(TypedDict):
    """Which machine to rent. Both lists have the cheapest first. The answers are those of dated prices, where there are any; notebook services lead nothing."""

    cheapest: Union[RentRow, None]
    unchanged: Union[RentRow, None]
    fastest: Union[RentRow, None]
    #: What is cheaper than the cheapest, at a price that nobody has dated; may be out of date.
    undated: Union[RentRow, None]
    machines: List[RentRow]
    notebooks: List[RentRow]


class LimitsModel(TypedDict):
    id: str
    parameters: float
    high: float


class LimitsMap(TypedDict):
    per_device_train_batch_size: List[float]
    max_length: List[float]
    verdicts: List[List[Verdict]]


class Limits(TypedDict):
    per_device_train_batch_size: Union[float, None]
    max_length: Union[float, None]
    r: Union[float, None]
    image_size: Union[float, None]
    model: Union[LimitsModel, None]
    costs: Dict[str, Union[float, None]]
    map: LimitsMap


class AdviceTiers(TypedDict):
    usable: float
    verdict: Verdict
    headroom: float
    plans: List[Plan]
    blocked: Union[Blocked, None]
    gib: float
    gpus: List[str]


class AdviceGpu(TypedDict):
    usable: float
    verdict: Verdict
    headroom: float
    plans: List[Plan]
    blocked: Union[Blocked, None]
    id: str
    name: str
    ladder: List[Rung]
    spend: List[Rung]
    elsewhere: List[Elsewhere]


class AdviceFixes(TypedDict):
    fix: str
    title: str
    changes: JsonObject
    saves: float
    time_factor: float
    quality: Quality
    why: str
    evidence: str
    effort: str
    setting: str
    source: str


class AdviceFront(TypedDict):
    high: float
    time_factor: float
    quality_cost: float
    fixes: List[str]


class AdviceSearch(TypedDict):
    replays: float
    priced: float


class AdviceHabits(TypedDict):
    code: str
    message: str
    bytes: float
    source: str


class Advice(TypedDict):
    schema: float
    core: str
    ok: bool
    errors: List[CoreError]
    #: What libraries refuse of this run; among the notes of a report of the second module.
    refused: List[Note]
    peak: Sizes
    tiers: List[AdviceTiers]
    gpu: Union[AdviceGpu, None]
    #: Null where nobody asked (`want: ["rent"]`) or the hardware is locked.
    rent: Union[Rent, None]
    #: Every fix that applies, alone.
    fixes: List[AdviceFixes]
    limits: Union[Limits, None]
    #: What no other set of fixes beats in memory, time and quality at once.
    front: List[AdviceFront]
    search: AdviceSearch
    habits: List[AdviceHabits]


class _ComparedRun(TypedDict):
    model: str
    instant: str
    allocated: float
    device: float
    needed: float
    high: float
    seconds_per_step: float
    effective_batch: float
    trainable: float


class ComparedRun(_ComparedRun, total=False):
    #: Absent while the request names no GPU.
    gpu: str
    verdict: Verdict
    headroom: float


class ComparisonDifferences(TypedDict):
    field: str
    a: Json
    b: Json
    device: float
    allocated: float
    seconds_per_step: float


class ComparisonNoEffect(TypedDict):
    field: str
    a: Json
    b: Json


class Comparison(TypedDict):
    schema: float
    core: str
    ok: bool
    errors: List[CoreError]
    a: ComparedRun
    b: ComparedRun
    #: Shares that add up to the whole difference, largest first.
    differences: List[ComparisonDifferences]
    no_effect: List[ComparisonNoEffect]

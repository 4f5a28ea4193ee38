from anything import __getattr__


class PreTrainedTokenizerBase:
    pass


class PreTrainedTokenizerFast(PreTrainedTokenizerBase):
    pass

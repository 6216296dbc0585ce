"""Recipes: `xmceval.Evaluator` in training loops and beside other libraries; each runs where the library is installed.

All of them add batches with ``update(y_true, y_score)``, in constant memory, and get the same bits as one `score` over
all rows. ``scripts/recipes`` runs those whose libraries are installed.

PyTorch
-------
Reset before an epoch, update with each batch of logits, and take the result in the end:

>>> import torch
>>> from xmceval import Evaluator
>>> evaluator = Evaluator(metrics=["P", "nDCG"], k=[1, 3], n_labels=8)
>>> def validate(model, loader):
...     evaluator.reset()
...     with torch.inference_mode():
...         for features, y_true in loader:
...             evaluator.update(y_true, model(features))
...     return evaluator.result()
>>> batches = [(torch.eye(8), torch.eye(8)), (torch.eye(3, 8), torch.eye(3, 8))]
>>> result = validate(torch.nn.Identity(), batches)
>>> result["P@1"], result.counts.n_instances
(1.0, 11)

Propensities come from the training labels: ``Evaluator(metrics="PSP", train=y_train)``. Where a model has many labels,
its best ones are enough for metrics at cutoffs: ``evaluator.update(y_true, (best.indices, best.values))`` after
``best = logits.topk(100)``.

PyTorch, several processes
--------------------------
The state of an Evaluator is one array of integers, and the sum of the arrays is the state of all rows:

>>> import torch
>>> from torch import distributed
>>> from xmceval import Evaluator
>>> distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
>>> evaluator = Evaluator(metrics=["P", "macroF1"], k=1, n_labels=4)
>>> evaluator.update(torch.eye(4), torch.eye(4))
>>> state = torch.from_numpy(evaluator.state())  # with NCCL: .to(device)
>>> distributed.all_reduce(state)
>>> evaluator.from_state(state.cpu()).result()["macroF1@1"]
1.0
>>> distributed.destroy_process_group()

``torch.utils.data.DistributedSampler`` repeats some rows so that all processes have as many: they would count twice.
Pass a sampler that does not, or leave out the repeated ones. With MPI, ``comm.allreduce(evaluator.state())`` adds.

Lightning
---------
A callback for a module whose ``validation_step`` returns the logits; the values are logged under the names of the
metrics, so ``ModelCheckpoint(monitor="P@1", mode="max")`` works. In several processes Lightning's own sampler repeats
some rows at the end of a process, so that all have as many; the callback leaves these out, and each row counts once:

>>> import sys
>>> import lightning
>>> import torch
>>> from torch.utils.data.distributed import DistributedSampler
>>> from xmceval import Evaluator
>>> class Metrics(lightning.Callback):
...     def __init__(self, **options):
...         self.evaluator = Evaluator(**options)
...
...     def on_validation_epoch_start(self, trainer, pl_module):
...         self.evaluator.reset()
...         sampler, self.n_left = trainer.val_dataloaders.sampler, sys.maxsize
...         if isinstance(sampler, DistributedSampler):  # this process has the rows rank, rank + num_replicas ...
...             self.n_left = len(range(sampler.rank, len(sampler.dataset), sampler.num_replicas))
...
...     def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):
...         own = slice(min(len(outputs), self.n_left))
...         self.evaluator.update(batch[1][own], outputs[own])
...         self.n_left -= len(outputs[own])
...
...     def on_validation_epoch_end(self, trainer, pl_module):
...         state = torch.from_numpy(self.evaluator.state()).to(pl_module.device)
...         state = trainer.strategy.reduce(state, reduce_op="sum")
...         pl_module.log_dict(dict(self.evaluator.from_state(state.cpu()).result()))
>>> class Identity(lightning.LightningModule):
...     def validation_step(self, batch, batch_idx):
...         return batch[0]
>>> data = torch.utils.data.TensorDataset(torch.eye(6), torch.eye(6))
>>> loader = torch.utils.data.DataLoader(data, batch_size=4)
>>> quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
>>> trainer = lightning.Trainer(callbacks=[Metrics(metrics=["P", "nDCG"], k=1, n_labels=6)], **quiet)
>>> trainer.validate(Identity(), loader, verbose=False)
[{'P@1': 1.0, 'nDCG@1': 1.0}]

Hugging Face
------------
One function for ``Trainer(compute_metrics=...)``. With ``TrainingArguments(batch_eval_metrics=True)`` it is called with
each batch, and no logits are kept:

>>> import tempfile
>>> import torch
>>> import transformers
>>> from xmceval import Evaluator
>>> evaluator = Evaluator(metrics=["P", "nDCG"], k=1, n_labels=6)
>>> def compute_metrics(prediction, compute_result=True):
...     evaluator.update(prediction.label_ids, prediction.predictions)
...     if not compute_result:
...         return {}
...     result = dict(evaluator.result())
...     evaluator.reset()
...     return result
>>> class Identity(torch.nn.Module):
...     def __init__(self):
...         super().__init__()
...         self.scale = torch.nn.Parameter(torch.ones(1))
...
...     def forward(self, features, labels=None):
...         logits = self.scale * features
...         return {"loss": torch.nn.functional.mse_loss(logits, labels), "logits": logits}
>>> rows = [{"features": row, "labels": row} for row in torch.eye(6)]
>>> for is_batched in (False, True):
...     with tempfile.TemporaryDirectory() as folder:
...         arguments = transformers.TrainingArguments(
...             folder, batch_eval_metrics=is_batched, per_device_eval_batch_size=4, report_to=[], use_cpu=True,
...             disable_tqdm=True,
...         )
...         trainer = transformers.Trainer(
...             Identity(), arguments, eval_dataset=rows, compute_metrics=compute_metrics,
...             data_collator=transformers.default_data_collator,
...         )
...         trainer.remove_callback(transformers.PrinterCallback)
...         figures = trainer.evaluate()
...     figures["eval_P@1"], figures["eval_nDCG@1"]
(1.0, 1.0)
(1.0, 1.0)

Keras
-----
A callback that scores held-out data after each epoch, with any backend:

>>> import keras
>>> import numpy as np
>>> from xmceval import Evaluator
>>> class Metrics(keras.callbacks.Callback):
...     def __init__(self, batches, **options):
...         super().__init__()
...         self.batches, self.evaluator = batches, Evaluator(**options)
...
...     def on_epoch_end(self, epoch, logs=None):
...         self.evaluator.reset()
...         for features, y_true in self.batches:
...             self.evaluator.update(y_true, self.model.predict_on_batch(features))
...         logs.update({f"val_{name}": value for name, value in self.evaluator.result().items()})
>>> model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(5, kernel_initializer="identity")])
>>> model.compile(keras.optimizers.SGD(0.01), "mse")
>>> rows = np.eye(5, dtype=np.float32)
>>> metrics = Metrics([(rows[:3], rows[:3]), (rows[3:], rows[3:])], metrics=["P", "nDCG"], k=1)
>>> history = model.fit(rows, rows, epochs=2, verbose=0, callbacks=[metrics])
>>> history.history["val_P@1"]
[1.0, 1.0]

scikit-learn
------------
One metric for ``scoring=``, by a function with a cutoff; or several from one call of `score`:

>>> import numpy as np
>>> from sklearn.metrics import make_scorer
>>> from sklearn.model_selection import KFold, cross_validate
>>> from sklearn.neighbors import KNeighborsRegressor
>>> import xmceval
>>> X = np.repeat(np.eye(4), 6, axis=0)
>>> y = np.repeat(np.eye(4, 7), 6, axis=0)
>>> folds = KFold(3, shuffle=True, random_state=0)
>>> ndcg = make_scorer(xmceval.ndcg_at_k, k=3)  # a classifier: response_method=("decision_function", "predict_proba")
>>> cross_validate(KNeighborsRegressor(3), X, y, scoring=ndcg, cv=folds)["test_score"]
array([1., 1., 1.])
>>> def several(estimator, X, y):
...     return dict(xmceval.score(y, estimator.predict(X), metrics=["P", "nDCG"], k=[1, 3]))
>>> sorted(cross_validate(KNeighborsRegressor(3), X, y, scoring=several, cv=folds))
['fit_time', 'score_time', 'test_P@1', 'test_P@3', 'test_nDCG@1', 'test_nDCG@3']

torchmetrics
------------
A metric whose only state is the array of an Evaluator, which torchmetrics adds over processes:

>>> import torch
>>> import torchmetrics
>>> from xmceval import Evaluator
>>> class Metrics(torchmetrics.Metric):
...     full_state_update = False
...
...     def __init__(self, **options):
...         super().__init__()
...         self.evaluator = Evaluator(**options)
...         self.add_state("totals", torch.from_numpy(self.evaluator.state()), dist_reduce_fx="sum")
...
...     def update(self, preds, target):
...         evaluator = self.evaluator.from_state(self.totals.cpu())
...         evaluator.update(target, preds)
...         self.totals = torch.from_numpy(evaluator.state()).to(self.device)
...
...     def compute(self):
...         result = self.evaluator.from_state(self.totals.cpu()).result()
...         return {name: torch.tensor(value) for name, value in result.items()}
>>> metric = Metrics(metrics=["P"], k=1, n_labels=4)
>>> metric(torch.eye(4), torch.eye(4))
{'P@1': tensor(1.)}
>>> metric.update(torch.eye(4).flip(0), torch.eye(4))
>>> metric.compute()
{'P@1': tensor(0.5000)}
"""

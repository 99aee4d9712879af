import assert from 'node:assert/strict';
import {test} from 'node:test';

import {growthText, humanBytes, sourceLineText, roleTitle, shareText, shellQuoted, shortened} from '../../../report/page/elements/format.js';

test('bytes have one decimal and a binary unit, as the command line writes them', () => {
  const written = [0, 512, 1023, 1024, 1536, -3072, 1048575, 1.5 * 2 ** 40].map(humanBytes);
  assert.deepEqual(written, ['0 B', '512 B', '1023 B', '1.0 KiB', '1.5 KiB', '-3.0 KiB', '1.0 MiB', '1.5 TiB']);
});

test('what is not known is said so', () => {
  assert.deepEqual([null, undefined, NaN].map(humanBytes), ['unknown', 'unknown', 'unknown']);
});

test('a growth has its sign', () => {
  assert.deepEqual([192, 0, -192].map(growthText), ['+192 B', '0 B', '−192 B']);
});

test('a share is a percentage', () => assert.equal(shareText(0.6204), '62.0%'));

test('a long name keeps its end', () => {
  assert.equal(shortened('run/module_0064.jit_train_step', 16), 'run/mo…rain_step');
  assert.equal(shortened('short', 16), 'short');
});

test('a line stands without its folders', () => {
  assert.deepEqual([sourceLineText('/a/b.py', 7), sourceLineText('b.py', null), sourceLineText(null, null)], ['b.py:7', 'b.py', '']);
});

test('a role is written with its hyphen', () => {
  assert.deepEqual(['liveOut', 'threadLocal', 'temp'].map(roleTitle), ['live-out', 'thread-local', 'temp']);
});

test('an argument is quoted for a shell only where it must be', () => {
  assert.equal(shellQuoted('run/module_1.x'), 'run/module_1.x');
  assert.equal(shellQuoted("a 'b'"), `'a '"'"'b'"'"''`);
});

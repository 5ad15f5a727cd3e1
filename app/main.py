print('not what was agreed to')
